/// The queued deliveries of a session, first in, first out. The caller enforces the limits on count and bytes.
struct DeliveryQueue: Sendable {
    private var slots: [BrokerDelivery?] = []
    /// The index of the first delivery in `slots`.
    private var head = 0
    /// The approximate memory size of the queued messages in bytes.
    private(set) var byteCount = 0

    var count: Int { slots.count - head }
    var isEmpty: Bool { head == slots.count }

    mutating func append(_ delivery: BrokerDelivery) {
        byteCount += delivery.message.byteCount
        slots.append(delivery)
    }

    mutating func popFirst() -> BrokerDelivery? {
        guard head < slots.count, let delivery = slots[head] else { return nil }
        slots[head] = nil
        head += 1
        byteCount -= delivery.message.byteCount
        if head == slots.count || head >= 64 && head * 2 >= slots.count {
            slots.removeFirst(head)
            head = 0
        }
        return delivery
    }

    /// Removes the deliveries that satisfy `isUseless`. The other deliveries keep their order.
    mutating func removeAll(where isUseless: (BrokerDelivery) -> Bool) {
        let kept = slots[head...].compactMap { $0 }.filter { !isUseless($0) }
        slots = kept
        head = 0
        byteCount = kept.reduce(0) { $0 + $1.message.byteCount }
    }

    /// All queued deliveries, oldest first.
    var all: [BrokerDelivery] { slots[head...].compactMap { $0 } }
}
