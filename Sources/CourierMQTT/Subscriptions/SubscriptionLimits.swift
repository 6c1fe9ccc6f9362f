/// The limits for the filters, callers and packets of a ``SubscriptionSet``.
struct SubscriptionLimits: Hashable, Sendable {
    /// The maximum number of filters, 100,000 by default. Both wanted filters and filters whose UNSUBSCRIBE is not
    /// confirmed count. Further filters are refused with ``CourierError/Code-swift.struct/queueFull``.
    var maximumFilters = 100_000

    /// The maximum number of callers that wait for an answer, 100,000 by default. Further callers are refused with
    /// ``CourierError/Code-swift.struct/queueFull``.
    var maximumWaiters = 100_000

    /// The largest number of filters in one packet, 200 by default. More filters need more packets.
    var filtersPerPacket = 200

    /// The maximum size of one packet, 32 KiB by default. A filter that is longer than this size is sent alone in a
    /// packet.
    var bytesPerPacket = 32 * 1_024

    /// The maximum number of packets that wait for the broker's answer, 16 by default. Further packets are sent when
    /// answers arrive.
    var packetsInFlight = 16
}
