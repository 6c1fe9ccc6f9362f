/// Sees every packet of a client, both ways: the socket into which an inspector plugs.
///
/// Contract.
/// - A client without an observer does nothing for it: one check per read or write, no copy.
/// - Calls come from the connection's event loop, in wire order for each direction of a connection: the observer
///   must not block, must not call the client, and does its formatting elsewhere and later. Observers of several
///   clients are called from several threads.
/// - Secrets do not come this far: the client overwrites the password of CONNECT and the data of enhanced
///   authentication with `*` bytes of the same length, so the packets can still be parsed. User names, user
///   properties, topics and payloads come as they are; an inspector that shows them decides what it hides.
/// - An observer cannot fail, delay or change what it sees.
public protocol PacketObserver: Sendable {
    /// Takes note of packets that were read or written.
    ///
    /// - Parameter batch: The packets of one read or write.
    func observed(_ batch: PacketBatch)
}
