import CourierTransport

extension ChannelCloseReason {
    /// Whether the peer broke the connection.
    var isReset: Bool {
        if case .failed(let error) = self { error.code == .reset || error.code == .brokenPipe } else { false }
    }
}
