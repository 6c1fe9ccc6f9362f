/// A key, or a key combination, that a terminal reported.
enum Key: Hashable, Sendable {
    struct Modifiers: OptionSet, Hashable, Sendable {
        let rawValue: Int

        static let shift = Modifiers(rawValue: 1)
        static let alt = Modifiers(rawValue: 2)
        static let control = Modifiers(rawValue: 4)
    }

    /// A typed character that is not a control character.
    case character(Character)
    /// Pasted text, with line ends as `\n`. It may contain any other characters, including control characters.
    case pasted(String)
    /// A letter key together with Ctrl, in lower case: `.control("c")`.
    case control(Character)
    case enter, tab, escape, backspace, delete, insert
    case up, down, left, right, home, end, pageUp, pageDown
    /// F1 to F20.
    case function(Int)
    /// Another key together with Shift, Alt or Ctrl, such as `.modified(.alt, .character("b"))`.
    indirect case modified(Modifiers, Key)
}
