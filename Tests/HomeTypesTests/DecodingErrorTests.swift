import Foundation
import HomeTypes
import Testing

/// What a client learns about a body that cannot be read.
@Suite struct DecodingErrorTests {
    private struct Wanted: Decodable {
        var level: UInt8
        var names: [String]?
    }

    @Test(arguments: [
        (#"{"level":256}"#, "a number in the body does not fit its field"),
        (#"{"level":-1}"#, "a number in the body does not fit its field"),
        (#"{"level":1.5}"#, "a number in the body does not fit its field"),
        (#"{"level":1"#, "the body is not valid JSON"), (#"{"level":1} x"#, "the body is not valid JSON"),
        (#"{"level":01}"#, "the body is not valid JSON"), ("[]", "the body must be an object"),
        (#"{"level":"1"}"#, "level must be a number"), (#"{"level":null}"#, "level must"), ("{}", "level is missing"),
        (#"{"level":1,"names":{}}"#, "names must be a list"), (#"{"level":1,"names":[2]}"#, "must be a string"),
    ])
    func theMessageSaysWhatIsWrong(body: String, words: String) throws {
        let data = Data(body.utf8)
        let error = try #require(throws: DecodingError.self) { try JSONDecoder().decode(Wanted.self, from: data) }
        let refusal = HomeError(error, body: data)
        #expect(refusal.code == .invalidArgument)
        #expect(refusal.message.contains(words), "\(refusal.message)")
    }
}
