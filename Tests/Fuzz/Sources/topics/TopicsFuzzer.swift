import FuzzSupport

@testable import CourierCore

/// Feeds a filter and a topic name, separated by a line feed, to the matcher. The matcher must accept the same texts
/// and give the same result as the simple reference.
func check(_ input: InputReader) {
    var input = input
    let (filterText, nameText) = (input.line(), input.text())
    let filter = try? TopicFilter(filterText)
    let name = try? TopicName(received: nameText)
    let levels = NaiveTopicMatcher.levels(ofFilter: filterText)
    guard (filter != nil) == (levels != nil) else { fatalError("filter \(filterText.debugDescription)") }
    guard (name != nil) == NaiveTopicMatcher.isName(nameText) else { fatalError("name \(nameText.debugDescription)") }
    if let filter, let name, let levels,
        (filter.matches(name) != Plant.isPlanted) != NaiveTopicMatcher.matches(levels, topic: nameText)
    {
        fatalError("\(filterText.debugDescription) and \(nameText.debugDescription)")
    }
}
