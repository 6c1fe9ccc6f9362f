import CourierTransport

extension ChannelCloseReason {
    /// True if the peer reset the connection.
    var isReset: Bool {
        if case .failed(let error) = self { error.code == .reset || error.code == .brokenPipe } else { false }
    }
}
