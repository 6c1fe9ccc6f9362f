/// How much a ``SubscriptionSet`` holds and asks for at a time.
struct SubscriptionLimits: Hashable, Sendable {
    /// The largest number of filters, 100,000 by default: wanted filters, and filters whose end the broker has not confirmed. One
    /// more is refused with ``CourierError/Code-swift.struct/queueFull``.
    var maximumFilters = 100_000

    /// How many callers wait for an answer at most, 100,000 by default. One more is refused with
    /// ``CourierError/Code-swift.struct/queueFull``.
    var maximumWaiters = 100_000

    /// The largest number of filters in one packet, 200 by default. More filters need more packets.
    var filtersPerPacket = 200

    /// How many bytes one packet has at most, 32 KiB by default. A single filter that is longer travels alone.
    var bytesPerPacket = 32 * 1_024

    /// How many packets wait for the broker's answer at most, 16 by default; the rest follows as they are answered.
    var packetsInFlight = 16
}
