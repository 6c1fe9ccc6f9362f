/// A key, or several at the same time, as a terminal tells of them.
enum Key: Hashable, Sendable {
    struct Modifiers: OptionSet, Hashable, Sendable {
        let rawValue: Int

        static let shift = Modifiers(rawValue: 1)
        static let alt = Modifiers(rawValue: 2)
        static let control = Modifiers(rawValue: 4)
    }

    /// A character that was typed; never a control character.
    case character(Character)
    /// What was pasted, with its line ends as `\n`; it may hold anything else.
    case pasted(String)
    /// A letter with Ctrl, in lower case: `.control("c")`.
    case control(Character)
    case enter, tab, escape, backspace, delete, insert
    case up, down, left, right, home, end, pageUp, pageDown
    /// F1 to F20.
    case function(Int)
    /// One of the others with Shift, Alt or Ctrl, such as `.modified(.alt, .character("b"))`.
    indirect case modified(Modifiers, Key)
}
