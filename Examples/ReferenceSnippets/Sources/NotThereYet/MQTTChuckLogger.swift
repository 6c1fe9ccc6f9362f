public import CourierCore

/// Stands in for the packet inspector, which Courier does not have yet; this one looks away.
public final class MQTTChuckLogger: PacketObserver {
    /// Makes a logger.
    public init() {}

    /// Does nothing.
    public func observed(_ batch: PacketBatch) {}
}
