import CommandArguments
import Testing

struct NumberTextTests {
    @Test(arguments: [
        ("7", 7), ("-7", -7), ("+7", 7), (" 7", 7), ("60s", 60), ("", 0), ("x", 0), ("-", 0), ("1.9", 1), ("0x10", 0),
        ("99999999999999999999", Int.max), ("-99999999999999999999", Int.min),
    ])
    func `an integer is parsed up to the first invalid character and limited to the range of Int`(
        text: String, number: Int
    ) {
        #expect(NumberText.whole(text) == number)
    }

    @Test(arguments: [
        ("0.5", 0.5), ("-1", -1), (" 2.5s", 2.5), ("", 0), ("x", 0), ("1e3", 1_000), ("1e", 1), (".5", 0.5),
        ("inf", 0), ("nan", 0), ("1e999", .greatestFiniteMagnitude),
    ])
    func `a decimal number is parsed up to the first invalid character, and the result is finite`(
        text: String, number: Double
    ) {
        #expect(NumberText.decimal(text) == number)
    }
}
