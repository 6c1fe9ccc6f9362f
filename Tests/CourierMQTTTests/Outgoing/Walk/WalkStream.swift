import CourierTransport

/// One connection to a ``WalkBroker``.
final class WalkStream: DuplexByteStream {
    let name = "walk"
    private let broker: WalkBroker
    private let number: Int

    init(_ broker: WalkBroker, _ number: Int) {
        self.broker = broker
        self.number = number
    }

    func open(_ readiness: StreamReadiness) { broker.open(number, readiness) }

    func read(into buffer: inout MutableRawSpan) throws(TransportError) -> StreamRead {
        try buffer.withUnsafeMutableBytes { space throws(TransportError) in try broker.read(number, into: space) }
    }

    func write(_ bytes: RawSpan) throws(TransportError) -> StreamWrite {
        try bytes.withUnsafeBytes { source throws(TransportError) in try broker.write(number, source) }
    }

    func closeOutput() {}
    func close(abruptly: Bool) { broker.closed(number) }
}
