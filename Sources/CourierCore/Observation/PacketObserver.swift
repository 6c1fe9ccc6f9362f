/// Receives every packet that a client sends and receives, for inspectors and recorders.
///
/// Contract:
/// - Without an observer, a client only checks at each read and write that there is none, and copies nothing.
/// - The observer is called on the connection's event loop, in wire order for each direction. It must not block and
/// must not call the client. It should format packets later, on another thread. If several clients use the same
/// observer, several threads call it.
/// - The password of CONNECT and the data of extended authentication are hidden: the client replaces each of their
///   bytes by `*`. The lengths remain, so that the packets can still be parsed. User names, user properties, topics and
///   payloads are not hidden. An inspector must decide whether to hide them.
/// - An observer cannot fail, and cannot delay or change packets.
public protocol PacketObserver: Sendable {
    /// Receives packets that were read or written.
    ///
    /// - Parameter batch: The packets of one read or write.
    func observed(_ batch: PacketBatch)
}
