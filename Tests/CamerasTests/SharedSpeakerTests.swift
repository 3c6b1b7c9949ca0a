import Testing
import Transport

@testable import Cameras

/// Where a talk waits for the source's own session.
@Suite struct SharedSpeakerTests {
    private static func talk() throws -> BackChannelTalk {
        BackChannelTalk(
            control: try #require(SourceControl()), limits: TalkQueue.Limits(), decibels: 0,
            report: { _ in })
    }

    private static func shared() -> SharedSpeaker {
        SharedSpeaker(findings: SourceFindings(profile: CameraProfile(), profileChanged: nil))
    }

    @Test func aThreadThatEndsLateTakesNothingFromItsSuccessor() throws {
        let shared = Self.shared()
        let (old, new) = (try #require(SourceControl()), try #require(SourceControl()))
        shared.attach(old)
        // The source is stopped while the old thread looks up a name, and started again.
        shared.attach(new)
        let talk = try Self.talk()
        #expect(shared.take(talk))
        shared.detach(old)
        #expect(shared.talk === talk)
        #expect(shared.take(try Self.talk()))
        shared.detach(new)
        #expect(shared.talk == nil)
        #expect(!shared.take(try Self.talk()))
    }

    @Test func aRefusalIsNotRememberedForever() throws {
        let shared = Self.shared()
        shared.attach(try #require(SourceControl()))
        let talk = try Self.talk()
        #expect(shared.take(talk, at: .zero))
        shared.finish(talk, .sessionRefused(.connectionClosed), at: .zero)
        #expect(!shared.take(try Self.talk(), at: .zero + .seconds(599)))
        #expect(shared.take(try Self.talk(), at: .zero + .seconds(600)))
    }
}
