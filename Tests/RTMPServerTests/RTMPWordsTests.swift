import Signalling
import StreamFormats
import Testing
import Transport

@testable import RTMPServer

/// What a publisher's program shows to the person in front of it.
struct RTMPWordsTests {
    static let ends: [RTMPPublisherEnd] = [
        .closedByClient, .connectionLost, .gaveWay, .tooLate, .silent, .stoppedReading,
        .violation(.notRTMP(firstByte: 22)), .violation(.format(.tooLong(.message))),
        .violation(.unexpected(command: "play")), .unusable([]),
        .unusable([.codec(.speex)]), .refused(.noToken), .refused(.wrongToken), .refused(.forbidden(.mayNotPublish)),
        .refused(.forbidden(.permitsTooMuch)),
        .refused(.unknownCamera("attic")), .refused(.unknownCamera("")), .refused(.takesNoPublisher(camera: "door")),
        .askedToPlay, .failed(.stopped(device: "yard")),
        .failed(.publishersChangeTooOften(device: "yard", wait: .seconds(1))), .ended(.replaced), .shuttingDown,
    ]

    @Test func `Each end has words of its own, which ffmpeg shows whole`() {
        // It cuts what a server says after 255 bytes.
        #expect(Self.ends.allSatisfy { !$0.words.isEmpty && $0.words.utf8.count <= 255 })
        #expect(Set(Self.ends.map(\.words)).count == Self.ends.count)
    }

    @Test func `A name from an address is printed without what could harm a terminal`() {
        let name = "a\u{1B}[31m\nb" + String(repeating: "c", count: 500)
        let words = PublisherRefusal.unknownCamera(name).words
        #expect(!words.contains("\u{1B}") && !words.contains("\n") && words.utf8.count < 255)
    }
}
