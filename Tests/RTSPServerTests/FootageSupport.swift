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
final class FootageHouse: Sendable {
    let folder: String
    let recordings: PreparedRecordings
    let permits = OutputPermits(camera: "door", patience: .seconds(120))
    let relay: MediaRelay
    let server: RTSPServer
    let news = Locked<[RTSPServerNews]>([])

    static let start: Int64 = 1_795_300_000_000

    init(change: (inout RTSPServerConfiguration) -> Void = { _ in }) throws {
        folder = NSTemporaryDirectory() + "/footage-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        recordings = try PreparedRecordings(folder: folder)
        relay = try MediaRelay(ports: try UDPPortGroup(.loopback(), count: 1))
        var configuration = try #require(
            RTSPServerConfiguration(
                host: "127.0.0.1", port: 0,
                authentication: RTSPAuthentication(passwords: ["a-token"], allowsBasic: true)))
        // A client that waits for a processor has not gone.
        configuration.session.idleTimeout = .seconds(3_600)
        configuration.stallTimeout = .seconds(3_600)
        change(&configuration)
        let news = news
        server = try RTSPServer(configuration, relay: relay, report: { event in news.withLock { $0.append(event) } })
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
final class FootageClient: Sendable {
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
        /// The header extensions of packets that have one, by channel, from their first byte on.
        var extensions: [UInt8: [[UInt8]]] = [:]
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
        // A server that stops sending fails a test and does not hang it.
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(socket) }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return count == 0 || recv(socket, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
    }

    /// Waits on a thread of its own: tests that wait on those of Swift's concurrency would leave none for the server.
    func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            if !startDetachedThread({ continuation.resume(returning: body()) }) {
                continuation.resume(returning: body())
            }
        }
    }

    /// Asks, and throws away media that comes before the answer.
    func ask(_ method: String, _ path: String, _ fields: String...) async throws -> Answer {
        try await ask(method, path, fields)
    }

    func ask(_ method: String, _ path: String, _ fields: [String]) async throws -> Answer {
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
                if bytes[0] & 0x10 != 0 {
                    let end = 16 + Int(number(14, 2)) * 4
                    media.extensions[channel, default: []].append(Array(bytes[12..<end]))
                }
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
