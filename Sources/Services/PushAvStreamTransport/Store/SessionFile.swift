import Foundation

/// `session.json`: the description of a session, with the version of its format. The initialization segments are in
/// files of their own.
struct SessionFile: Codable {
    /// The version that this program writes. A program that finds a higher one leaves the session as it is.
    static let currentVersion = 1
    static let maximumLength = 1 << 20

    var version: Int
    var session: RecordingSession

    /// The bytes of the file.
    static func encode(_ session: RecordingSession) -> [UInt8] {
        var session = session
        for index in session.tracks.indices { session.tracks[index].initializationSegment = Data() }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // These types always encode: they hold no floating point numbers.
        let json = (try? encoder.encode(SessionFile(version: Self.currentVersion, session: session))) ?? Data()
        return Array(json) + [0x0A]
    }

    /// Reads the file of the session that its folder names.
    static func decode(
        _ bytes: [UInt8], of id: RecordingSession.ID, path: String
    ) throws(UnreadableRecording) -> RecordingSession {
        struct Version: Decodable { var version: Int }
        let data = Data(bytes)
        let decoder = JSONDecoder()
        guard let version = try? decoder.decode(Version.self, from: data).version else {
            throw UnreadableRecording(
                path: path, reason: "is damaged; the segments beside it were left as they are")
        }
        guard version <= Self.currentVersion else {
            throw UnreadableRecording(
                path: path,
                reason: "was written by a newer version of the gateway (format \(version)); use that version to read it"
            )
        }
        guard let session = try? decoder.decode(SessionFile.self, from: data).session, version > 0 else {
            throw UnreadableRecording(
                path: path, reason: "is damaged; the segments beside it were left as they are")
        }
        guard session.id == id else {
            throw UnreadableRecording(path: path, reason: "describes a session that its folder does not name")
        }
        if let problem = session.layoutProblem {
            throw UnreadableRecording(path: path, reason: problem)
        }
        return session
    }
}

extension RecordingSession {
    /// What keeps the session from having names on disk; nil if nothing does. The names themselves are not repeated.
    var layoutProblem: String? {
        guard RecordingLayout.isSafe(device: id.device) else {
            return "the device's id cannot be the name of a folder; it may have 64 letters, digits, '.', '_' and '-'"
        }
        guard RecordingLayout.times.contains(id.start) else {
            return "the start is not between the years 1970 and 9999; set the clock"
        }
        guard (1...16).contains(tracks.count) else { return "a recording has 1 to 16 tracks" }
        for (index, track) in tracks.enumerated() {
            guard RecordingLayout.isSafe(track: track.name) else {
                return "the name of track \(index) is not 1 to 16 letters, digits, '.', '_' and '-', "
                    + "or begins with a dot"
            }
            guard (1...1_000_000_000).contains(track.timescale) else {
                return "the timescale of track \(index) is not between 1 and 1,000,000,000"
            }
        }
        // A case-insensitive file system would make one file of two.
        guard Set(tracks.map { $0.name.lowercased() }).count == tracks.count else {
            return "two tracks have the same name"
        }
        return nil
    }
}
