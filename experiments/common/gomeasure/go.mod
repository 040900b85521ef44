module gomeasure

go 1.21
