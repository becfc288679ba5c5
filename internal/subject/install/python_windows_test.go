package install_test

const python = "python"
