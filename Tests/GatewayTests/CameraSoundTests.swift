import Codecs
import Foundation
import Glibc
import HomeHub
import Signalling
import Testing

@testable import Gateway

/// The sound files that automations play.
@Suite struct CameraSoundTests {
    @Test func `the sounds are a doorbell's and the files of the config`() throws {
        let folder = try TemporaryFolder()
        let file = folder.directory.file("dog.wav")
        try folder.directory.create()
        try Data(WAVFile.encode([Int16](repeating: 1_000, count: 480), sampleRate: 48_000))
            .write(to: URL(fileURLWithPath: file))
        let sounds = try CameraSound.sounds([.init(number: 3, name: "Dog", file: file)])
        #expect(sounds.map(\.number) == [0, 3] && sounds.map(\.name) == ["Doorbell", "Dog"])
        #expect(sounds[1].clip.samples.count == 480)
    }

    @Test func `a file that is missing or is not a sound stops the start, and is named`() throws {
        let folder = try TemporaryFolder()
        try folder.directory.create()
        let text = folder.directory.file("text.wav")
        try Data("not a sound".utf8).write(to: URL(fileURLWithPath: text))
        let pipe = folder.directory.file("pipe.wav")
        #expect(mkfifo(pipe, 0o600) == 0)
        for file in [folder.directory.file("missing.wav"), text, pipe] {
            do {
                _ = try CameraSound.sounds([.init(number: 3, name: "Dog", file: file)])
                Issue.record("\(file) is a sound")
            } catch {
                #expect(error.description.contains(file))
            }
        }
    }
}
