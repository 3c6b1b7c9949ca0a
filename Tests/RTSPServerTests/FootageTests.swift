import DatagramPort
import Foundation
import Glibc
import MediaRelay
import PushAvStreamTransport
import RTSP
import RecordingFakes
import Stations
import Testing
import Transport

@testable import RTSPServer

/// A server with the footage of a store, and no cameras.
private final class FootageHouse: Sendable {
    let folder: String
    let recordings: PreparedRecordings
    let permits = OutputPermits(camera: "door")
    let relay: MediaRelay
    let server: RTSPServer
    let news = Locked<[RTSPServerNews]>([])

    static let start: Int64 = 1_795_300_000_000

    init() throws {
        folder = NSTemporaryDirectory() + "/footage-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        recordings = try PreparedRecordings(folder: folder)
        relay = try MediaRelay(ports: try UDPPortGroup(.loopback(), count: 1))
        let configuration = try #require(
            RTSPServerConfiguration(
                host: "127.0.0.1", port: 0,
                authentication: RTSPAuthentication(passwords: ["a-token"], allowsBasic: true)))
        let news = news
        server = try RTSPServer(configuration, relay: relay, tell: { event in news.withLock { $0.append(event) } })
        let permits = permits
        server.setFootage(FootageSource(store: recordings.store, permits: { _ in permits }))
    }

    deinit {
        server.stop()
        relay.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }
}

/// A client that speaks RTSP over one connection, with media in it.
private final class Client: Sendable {
    private let socket: Int32
    private let base: String
    private let state = Locked<(sequence: Int, session: String?)>((0, nil))

    struct Answer: Sendable {
        var head: String
        var body: String
        var status: Int { Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0 }

        func field(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { String($0.dropFirst(name.count + 1)).trimmingCharacters(in: .whitespaces) }
        }
    }

    /// The server closed the connection, or sent something else than RTSP.
    struct Broken: Error {}

    struct Media: Sendable {
        /// Timestamps and sequence numbers of packets by channel.
        var packets: [UInt8: [(timestamp: UInt32, sequence: UInt16)]] = [:]
        /// The wall clock of the first sender report by channel, in seconds since 1900.
        var reports: [UInt8: UInt32] = [:]
        var goodbyes: [UInt8: String] = [:]
    }

    init(_ house: FootageHouse) throws {
        base = "rtsp://127.0.0.1:\(house.server.port)"
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = house.server.port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
    }

    deinit { close(socket) }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return count == 0 || recv(socket, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
    }

    /// Waits on a thread of its own: tests that wait on those of Swift's concurrency would leave none for the server.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            if !startDetachedThread({ continuation.resume(returning: body()) }) {
                continuation.resume(returning: body())
            }
        }
    }

    /// Asks, and throws away media that comes before the answer.
    func ask(_ method: String, _ path: String, _ fields: String...) async throws -> Answer {
        try await onThread { Result { try self.wait(method, path, fields) } }.get()
    }

    private func wait(_ method: String, _ path: String, _ fields: [String]) throws -> Answer {
        let (sequence, session) = state.withLock { state in
            state.sequence += 1
            return state
        }
        var request = "\(method) \(base)/\(path) RTSP/1.0\r\nCSeq: \(sequence)\r\n"
        // "me:a-token"
        request += "Authorization: Basic bWU6YS10b2tlbg==\r\n"
        if let session { request += "Session: \(session)\r\n" }
        for field in fields { request += field + "\r\n" }
        request += "\r\n"
        guard send(socket, request, request.utf8.count, Int32(MSG_NOSIGNAL)) == request.utf8.count else {
            throw Broken()
        }
        for _ in 0..<100_000 {
            guard let first = read(1)?.first else { throw Broken() }
            if first == UInt8(ascii: "$") {
                guard let header = read(3), read(Int(header[1]) << 8 | Int(header[2])) != nil else { throw Broken() }
                continue
            }
            var head = [first]
            while !head.suffix(4).elementsEqual([13, 10, 13, 10]), head.count < 4_096 {
                guard let next = read(1) else { throw Broken() }
                head += next
            }
            var answer = Answer(head: String(decoding: head, as: UTF8.self), body: "")
            if let length = answer.field("Content-Length").flatMap({ Int($0) }) {
                answer.body = String(decoding: read(length) ?? [], as: UTF8.self)
            }
            if let named = answer.field("Session") {
                state.withLock { $0.session = String(named.prefix { $0 != ";" }) }
            }
            return answer
        }
        throw Broken()
    }

    func setUp(_ path: String, tracks: Int = 2) async throws {
        for track in 0..<tracks {
            let answer = try await ask(
                "SETUP", "\(path)/trackID=\(track)",
                "Transport: RTP/AVP/TCP;unicast;interleaved=\(track * 2)-\(track * 2 + 1)")
            try #require(answer.status == 200, "\(answer.head)")
        }
    }

    /// Reads media until every channel has said goodbye, or the connection ends.
    func media(goodbyes: Int = 2) async -> Media {
        await onThread { self.read(goodbyes: goodbyes) }
    }

    private func read(goodbyes: Int) -> Media {
        var media = Media()
        for _ in 0..<1_000_000 {
            guard media.goodbyes.count < goodbyes, let header = read(4), header[0] == UInt8(ascii: "$"),
                let bytes = read(Int(header[2]) << 8 | Int(header[3]))
            else { break }
            let channel = header[1]
            func number(_ place: Int, _ count: Int) -> UInt32 {
                bytes[place..<place + count].reduce(0) { $0 << 8 | UInt32($1) }
            }
            if channel & 1 == 0 {
                media.packets[channel, default: []].append((number(4, 4), UInt16(number(2, 2))))
            } else if bytes[1] == 200 {
                if media.reports[channel] == nil { media.reports[channel] = number(8, 4) }
            } else {
                var place = 0
                while place + 4 <= bytes.count {
                    let length = (Int(number(place + 2, 2)) + 1) * 4
                    if bytes[place + 1] == 203 {
                        let text = length > 8 ? bytes[place + 9..<place + 9 + Int(bytes[place + 8])] : []
                        media.goodbyes[channel] = String(decoding: text, as: UTF8.self)
                    }
                    place += length
                }
            }
        }
        return media
    }
}

@Suite("recorded footage by RTSP", .timeLimit(.minutes(3)))
struct FootageTests {
    private static let path = "recordings/door"

    /// The timestamps of a track at the beginning, from `RTP-Info`.
    private static func beginnings(_ answer: Client.Answer) -> [(sequence: UInt16, timestamp: UInt32)] {
        (answer.field("RTP-Info") ?? "").split(separator: ",").map { entry in
            func value(_ name: String) -> String {
                String(entry.split(separator: ";").first { $0.hasPrefix(name) }?.dropFirst(name.count) ?? "")
            }
            return (UInt16(value("seq=")) ?? 0, UInt32(value("rtptime=")) ?? 0)
        }
    }

    @Test("a range is played from its key frame to its end, with the times of the recording")
    func range() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 6)
        let client = try Client(house)
        let description = try await client.ask("DESCRIBE", Self.path)
        #expect(description.status == 200)
        #expect(description.body.contains("a=range:npt=0.000000-6.000000"))
        #expect(description.body.contains("VP8/90000"))
        try await client.setUp(Self.path)
        let play = try await client.ask("PLAY", Self.path, "Range: npt=2.5-3.5")
        #expect(play.status == 200)
        #expect(play.field("Range") == "npt=2.500000-3.500000")
        let begin = Self.beginnings(play)
        try #require(begin.count == 2)
        let media = await client.media()
        // Pictures from the key frame at 2 s to 3.5 s, sound from 2.5 s.
        let pictures = try #require(media.packets[0])
        let sound = try #require(media.packets[2])
        #expect(
            pictures.map { Int32(bitPattern: $0.timestamp &- begin[0].timestamp) }
                == (50..<88).map { $0 * 3_600 - 225_000 })
        #expect(
            sound.map { Int32(bitPattern: $0.timestamp &- begin[1].timestamp) } == (125..<175).map { ($0 - 125) * 960 })
        #expect(pictures.map(\.sequence) == (0..<38).map { begin[0].sequence &+ $0 })
        #expect(media.goodbyes == [1: "the end of the recording", 3: "the end of the recording"])
        // The reports have the wall clock of the recording (seconds since 1900).
        let captured = UInt32(truncatingIfNeeded: FootageHouse.start / 1_000 + 2_208_988_800)
        for report in media.reports.values { #expect((captured + 1...captured + 4).contains(report)) }

        // Another range, by the time of the day, in the same session.
        let again = try await client.ask("PLAY", Self.path, "Range: clock=20261121T222641Z-20261121T222641.5Z")
        #expect(again.status == 200)
        let second = await client.media()
        #expect(second.packets[2]?.count == 25)
        #expect(second.packets[0]?.count == 13)
        #expect(second.packets[0]?.first?.sequence == pictures.last.map { $0.sequence &+ 1 })
    }

    @Test("a range that begins with a segment begins with its key frame")
    func segmentStart() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 6)
        let client = try Client(house)
        try await client.setUp(Self.path)
        let play = try await client.ask("PLAY", Self.path, "Range: npt=4-4.5")
        let begin = Self.beginnings(play)
        let media = await client.media()
        #expect(media.packets[0]?.count == 13)
        #expect(media.packets[0]?.first?.timestamp == begin.first?.timestamp)
    }

    @Test("what was not recorded, other units and other directions are refused")
    func refusals() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 2)
        let client = try Client(house)
        #expect(try await client.ask("DESCRIBE", "recordings/attic").status == 404)
        #expect(try await client.ask("DESCRIBE", "recordings").status == 404)
        #expect(try await client.ask("DESCRIBE", "\(Self.path)?from=yesterday").status == 404)
        #expect(try await client.ask("DESCRIBE", "\(Self.path)?from=2030-01-01T00:00:00Z").status == 404)
        try await client.setUp(Self.path)
        #expect(try await client.ask("PLAY", Self.path, "Range: smpte=0:0:1-").status == 501)
        #expect(try await client.ask("PLAY", Self.path, "Range: npt=7-9").status == 457)
        #expect(try await client.ask("PLAY", Self.path, "Range: npt=x").status == 457)
        #expect(try await client.ask("PLAY", Self.path, "Scale: -1").status == 406)
        let fast = try await client.ask("PLAY", Self.path, "Range: npt=0-", "Scale: 9")
        #expect(fast.field("Scale") == "4.0")
        let media = await client.media(goodbyes: 1)
        #expect(media.packets[0]?.count == 50)
        #expect(media.packets[2] == nil)
    }

    @Test("times without footage are kept, or left out where that was asked for")
    func gaps() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 2)
        try house.recordings.add(start: FootageHouse.start + 3_600_000, seconds: 2, sequence: 2)
        #expect(try await Client(house).ask("DESCRIBE", Self.path).body.contains("a=range:npt=0.000000-3602.000000"))
        let client = try Client(house)
        let description = try await client.ask("DESCRIBE", "\(Self.path)?gaps=cut")
        #expect(description.body.contains("a=range:npt=0.000000-4.000000"))
        try await client.setUp(Self.path)
        let play = try await client.ask("PLAY", Self.path, "Range: npt=1-3")
        let begin = Self.beginnings(play)
        let media = await client.media()
        #expect(media.packets[0]?.count == 50)
        let last = try #require(media.packets[0]?.last)
        #expect(last.timestamp &- begin[0].timestamp == 49 * 3_600)
    }

    @Test("footage that is deleted while it plays ends the connection with a reason")
    func deletion() async throws {
        let house = try FootageHouse()
        let session = try house.recordings.add(start: FootageHouse.start, seconds: 6)
        let client = try Client(house)
        try await client.setUp(Self.path)
        #expect(try await client.ask("PLAY", Self.path).status == 200)
        try house.recordings.store.delete(session.id)
        let media = await client.media()
        #expect(media.goodbyes[1] == "the recording was deleted while it was played")
        #expect((media.packets[0]?.count ?? 0) < 150)
    }

    @Test("a camera that is switched off shows no footage, and ends what plays")
    func off() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 60)
        let client = try Client(house)
        try await client.setUp(Self.path)
        #expect(try await client.ask("PLAY", Self.path).status == 200)
        #expect(await house.server.counters().playbacks == 1)
        await house.permits.set(OutputPolicy(isOn: false))
        #expect(house.permits.count == 0)
        _ = await client.media()
        let other = try Client(house)
        #expect(try await other.ask("DESCRIBE", Self.path).status == 403)
        await house.permits.set(OutputPolicy())
        #expect(try await other.ask("DESCRIBE", Self.path).status == 200)
    }

    @Test("a pause keeps the place")
    func pause() async throws {
        let house = try FootageHouse()
        try house.recordings.add(start: FootageHouse.start, seconds: 10)
        let client = try Client(house)
        try await client.setUp(Self.path)
        #expect(try await client.ask("PLAY", Self.path, "Range: npt=8-").status == 200)
        #expect(try await client.ask("PAUSE", Self.path).status == 200)
        let range = try #require(await client.ask("PLAY", Self.path).field("Range"))
        let from = try #require(Double(range.dropFirst(4).prefix { $0 != "-" }))
        #expect((8..<10).contains(from))
        #expect(await client.media().goodbyes.count == 2)
    }
}
