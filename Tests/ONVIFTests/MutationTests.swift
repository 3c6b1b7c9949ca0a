import HTTPMedia
import Testing
import Transport
import XML

@testable import ONVIF

@Suite struct MutationTests {
    @Test func mutatedMessagesNeverTrap() {
        var random = RandomSource.seeded(7)
        var readable = 0
        for round in 0..<4000 {
            var bytes = Answers.corpus[round % Answers.corpus.count]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[position] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: position)
                case 2: bytes.insert(UInt8(ascii: "<"), at: position)
                default: bytes.removeSubrange(position..<min(bytes.count, position + 40))
                }
                if bytes.isEmpty { bytes = [0] }
            }
            guard case .success(let body) = Answers.body(bytes) else { continue }
            readable += 1
            _ = EventService.notifications(body).map { ($0.readings, $0.key) }
            _ = try? EventService.pullPoint(body, events: .init(onvif: "a"), askedSeconds: 60)
            _ = try? DeviceService.systemDateAndTime(body)
            _ = DeviceService.services(body, given: .init(onvif: "a"))
            _ = (ImagingService.settings(body), ImagingService.options(body), MediaService.rotations(body))
            _ = (MediaService.profiles(body), MediaService.outputLevels(body))
            if var horn = try? AudioOutputConfiguration(body), horn.level != nil {
                horn.setLevel(7)
                #expect(horn.level == 7)
                let sent = MediaService.setAudioOutputConfiguration(.init(onvif: "a"), horn)
                    .envelope(token: nil, messageID: (1, 2))
                #expect(throws: Never.self) { try XMLReader.read(Array(sent.utf8)) }
            }
            guard var lens = try? VideoSourceConfiguration(body) else { continue }
            lens.rotation = 90
            // What the gateway sends stays XML that says so, whatever the camera has said.
            let sent = MediaService.setVideoSourceConfiguration(.init(onvif: "a"), lens)
                .envelope(token: nil, messageID: (1, 2))
            let read = try? XMLReader.read(Array(sent.utf8)).firstDescendant("Body").map(VideoSourceConfiguration.init)
            #expect(read?.rotation == 90)
        }
        #expect(readable > 100)
    }
}
