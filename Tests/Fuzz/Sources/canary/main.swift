import FuzzSupport

// Crashes for inputs that begin with `BUG`, which libFuzzer must find.
runFuzzer { input in
    if input.rest.starts(with: "BUG".utf8) { fatalError("the planted crash") }
}
