extension Duration {
    /// The time limit for expected events. It is long because other tests use the same cores. Only a failing test waits
    /// this long.
    package static let patience = Duration.seconds(120)
}
