import FuzzSupport

runFuzzer(check)
