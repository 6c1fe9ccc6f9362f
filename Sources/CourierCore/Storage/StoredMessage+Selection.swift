extension StoredMessage {
    /// Whether the filter is for this message. A topic that is none matches no filter.
    package func matches(_ filter: TopicFilter?) -> Bool {
        guard let filter else { return true }
        guard let topic = try? TopicName(received: topic) else { return false }
        return filter.matches(topic)
    }
}
