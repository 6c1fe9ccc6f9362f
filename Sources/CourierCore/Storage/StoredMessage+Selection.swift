package import Foundation

extension StoredMessage {
    /// Whether its time is over.
    package func isOver(at date: Date) -> Bool { expiresAt.map { $0 <= date } ?? false }

    /// Whether the filter is for this message. A topic that is none matches no filter.
    package func matches(_ filter: TopicFilter?) -> Bool {
        guard let filter else { return true }
        guard let topic = try? TopicName(received: topic) else { return false }
        return filter.matches(topic)
    }
}
