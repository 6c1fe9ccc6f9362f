extension StoredMessage {
    /// Whether the filter matches the message's topic; `true` without a filter. An invalid topic matches no filter.
    package func matches(_ filter: TopicFilter?) -> Bool {
        guard let filter else { return true }
        guard let topic = try? TopicName(received: topic) else { return false }
        return filter.matches(topic)
    }
}
