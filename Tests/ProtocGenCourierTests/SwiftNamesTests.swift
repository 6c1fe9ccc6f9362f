import Testing

@testable import CourierProtobufGenerator

struct SwiftNamesTests {
    @Test(arguments: [
        ("title", "title"), ("user_id", "userID"), ("base_url", "baseURL"), ("HTTPStatus", "httpStatus"),
        ("in", "`in`"), ("self", "self_"), ("init", "init_"), ("2fast", "_2fast"), ("a__b", "aB"),
        ("unknown_fields", "unknownFields_"), ("ALL_CAPS", "allCAPS"), ("_", "_"),
    ])
    func `a field name becomes a valid Swift property name in lower camel case`(field: String, property: String) {
        #expect(SwiftNames.property(field) == property)
    }

    @Test func `if all cases of an enum begin with the enum's name, this prefix is removed`() {
        #expect(SwiftNames.cases(["MOOD_GLAD", "MOOD_VERY_SAD"], of: "Mood") == ["glad", "verySad"])
        #expect(SwiftNames.cases(["HTTP_CODE_OK", "HTTP_CODE_GONE"], of: "HTTPCode") == ["ok", "gone"])
        #expect(SwiftNames.cases(["GLAD", "MOOD_SAD"], of: "Mood") == ["glad", "moodSad"])
        #expect(SwiftNames.cases(["CODE_1", "CODE_2"], of: "Code") == ["code1", "code2"])
        #expect(
            SwiftNames.cases(["KIND_DEFAULT", "KIND_SELF", "KIND_NONE"], of: "Kind") == ["`default`", "self_", "none_"])
    }

    @Test func `a package name becomes a prefix of Swift type names`() {
        #expect(SwiftNames.prefix(package: "courier.chat_room") == "Courier_ChatRoom_")
        #expect(SwiftNames.prefix(package: "") == "")
        #expect(SwiftNames.type("note", prefix: "A_") == "A_Note")
        #expect(SwiftNames.type("Duration") == "Duration_")
    }
}
