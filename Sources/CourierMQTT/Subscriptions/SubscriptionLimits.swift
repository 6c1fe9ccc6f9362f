/// How much a ``SubscriptionSet`` holds and asks for at a time.
struct SubscriptionLimits: Hashable, Sendable {
    /// How many filters are known at most, 100,000 by default: those that are wanted, and those that the broker has not
    /// yet confirmed to be rid of. One more is refused with ``CourierError/Code-swift.struct/queueFull``.
    var maximumFilters = 100_000

    /// How many callers wait for an answer at most, 100,000 by default. One more is refused with
    /// ``CourierError/Code-swift.struct/queueFull``.
    var maximumWaiters = 100_000

    /// How many filters one packet carries at most, 200 by default; the rest goes into further packets.
    var filtersPerPacket = 200

    /// How many bytes one packet has at most, 32 KiB by default. A single filter that is longer travels alone.
    var bytesPerPacket = 32 * 1_024

    /// How many packets wait for the broker's answer at most, 16 by default; the rest follows as they are answered.
    var packetsInFlight = 16
}
