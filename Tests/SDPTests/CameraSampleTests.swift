import Foundation
import SDP
import Testing

@Suite struct CameraSampleTests {
    struct Camera: Decodable {
        var problems: [Expectation.Problem]
        var tracks: [Expectation.Track]
    }

    @Test(arguments: Samples.paths(in: "cameras"))
    func descriptionIsUnderstood(path: String) throws {
        let expected: Camera = try Expectation.read(path)
        let description = try SessionDescription(parsing: Samples.text(path))
        expect(description.problems, are: expected.problems, path)

        let tracks = description.cameraTracks
        #expect(tracks.map(\.index) == expected.tracks.map(\.index), "\(path)")
        for (track, expected) in zip(tracks, expected.tracks) {
            #expect(track.kind.name == expected.kind, "\(path)")
            #expect(track.role.rawValue == expected.role, "\(path)")
            #expect(track.payloadType == expected.payloadType, "\(path)")
            #expect(track.codec.mapping == expected.codec, "\(path)")
            #expect(track.control == expected.control, "\(path)")
            for (name, value) in expected.parameters ?? [:] {
                #expect(track.codec.formatParameters[name] == value, "\(path): \(name)")
            }
        }
    }

    @Test(arguments: Samples.paths(in: "cameras"))
    func nothingIsLostInWriting(path: String) throws {
        let text = try Samples.text(path)
        let written = try SessionDescription(parsing: text).encoded()
        let lines = text.split(whereSeparator: \.isNewline)
        #expect(written.split(whereSeparator: \.isNewline) == lines)
        #expect(written.hasSuffix("\r\n"))
    }

    @Test(
        arguments: [
            ("", []), ("Zg==", [[0x66]]), ("Zm8", [[0x66, 0x6F]]), ("Zg==,Zm9v", [[0x66], [0x66, 0x6F, 0x6F]]),
        ]
            as [(String, [[UInt8]])])
    func parameterSetsAreBase64WithOrWithoutPadding(text: String, sets: [[UInt8]]) {
        #expect(FormatParameters(parsing: "sprop-parameter-sets=\(text)").parameterSets == sets)
        #expect(FormatParameters(parsing: "sprop-parameter-sets=Z!g=,\(text)").parameterSets == sets)
    }

    @Test func parameterSetsAreDecoded() throws {
        let description = try SessionDescription(parsing: Samples.text("cameras/live555-plain.sdp"))
        let sets = try #require(description.cameraTracks.first).codec.formatParameters.parameterSets
        #expect(sets.map { $0.first.map { $0 & 31 } } == [7, 8])
        #expect(sets.map { Data($0).base64EncodedString() } == ["Z00AH5WoFAFuQA==", "aO48gA=="])
    }
}
