package report

const raced = false
