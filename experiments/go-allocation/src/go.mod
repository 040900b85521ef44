module go-allocation

go 1.21

require gomeasure v0.0.0

replace gomeasure => ../../common/gomeasure
