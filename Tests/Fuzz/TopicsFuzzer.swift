// Compiled by Scripts/fuzz together with the sources of CourierCore and the simple matcher of its tests, into one
// module.

/// Feeds a filter and a topic name, separated by a line feed, to the matcher. The matcher must accept the same texts
/// and give the same result as the simple reference.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTopics(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    let filterText = String(decoding: bytes[..<end], as: UTF8.self)
    let nameText = String(decoding: bytes[min(end + 1, bytes.count)...], as: UTF8.self)
    let filter = try? TopicFilter(filterText)
    let name = try? TopicName(received: nameText)
    let levels = NaiveTopicMatcher.levels(ofFilter: filterText)
    guard (filter != nil) == (levels != nil) else { fatalError("filter \(filterText.debugDescription)") }
    guard (name != nil) == NaiveTopicMatcher.isName(nameText) else { fatalError("name \(nameText.debugDescription)") }
    if let filter, let name, let levels, filter.matches(name) != NaiveTopicMatcher.matches(levels, topic: nameText) {
        fatalError("\(filterText.debugDescription) and \(nameText.debugDescription)")
    }
    return 0
}
