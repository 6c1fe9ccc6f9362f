extension Duration {
    /// How long something may still come: the other tests want the same cores. Only a test that fails waits so long.
    package static let patience = Duration.seconds(120)
}
