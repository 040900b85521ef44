module gomeasure

go 1.20
