module example.com/external

go 1.26.0

require github.com/leakbench/leakbench v0.0.0

replace github.com/leakbench/leakbench => ../../..
