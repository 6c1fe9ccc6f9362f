/// Connects a channel to a Unix socket.
final class UnixDialer: Dialer {
    private let path: String
    private weak var channel: ByteChannel?
    private var attempt: SocketAttempt?

    init(path: String, channel: ByteChannel) {
        self.path = path
        self.channel = channel
    }

    var progress: String { "no answer" }

    func start() {
        guard let channel else { return }
        do throws(TransportError) {
            let address = try SocketAddress(unixPath: path)
            let attempt = SocketAttempt(address, loop: channel.loop, calls: .real) { [weak self] _, result in
                self?.finished(result)
            }
            self.attempt = attempt
            attempt.start()
        } catch {
            channel.finish(.failed(error))
        }
    }

    func cancel() {
        channel = nil
        attempt?.cancel()
        attempt = nil
    }

    private func finished(_ result: Result<Int32, TransportError>) {
        attempt = nil
        guard let channel else { return }
        switch result {
        case .success(let socket):
            channel.attach(DescriptorStream(reading: socket, writing: socket, name: channel.peerName))
        case .failure(let error): channel.finish(.failed(error))
        }
    }
}
