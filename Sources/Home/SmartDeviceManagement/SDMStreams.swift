public import Foundation
public import HomeHub
public import HomeTypes

/// The live streams of the Smart Device Management API: live views under other names.
public struct SDMStreams: Sendable {
    private let hub: HomeHub
    private let now: @Sendable () -> Date

    /// The results of the stream commands.
    public struct Results: Encodable, Sendable, Equatable {
        /// The answer; only of a new stream.
        public var answerSdp: String?
        /// When the stream ends unless it is extended, in RFC 3339.
        public var expiresAt: String?
        /// The stream.
        public var mediaSessionId: String?
        /// Where a picture is.
        public var url: String?
        /// The token that opens it, as the value of `Authorization: Basic`.
        public var token: String?

        /// Names the results.
        public init(
            answerSdp: String? = nil, expiresAt: String? = nil, mediaSessionId: String? = nil, url: String? = nil,
            token: String? = nil
        ) {
            self.answerSdp = answerSdp
            self.expiresAt = expiresAt
            self.mediaSessionId = mediaSessionId
            self.url = url
            self.token = token
        }
    }

    private struct Started: Decodable {
        var mediaSessionId: String
        var answerSdp: String
        var liveSessionDurationSeconds: Double
    }

    private struct Extended: Decodable {
        var liveSessionDurationSeconds: Double
    }

    /// Speaks for a home.
    public init(_ hub: HomeHub, now: @escaping @Sendable () -> Date = { Date() }) {
        self.hub = hub
        self.now = now
    }

    /// Starts a stream.
    public func generate(_ offer: String, of device: String, by caller: Caller) async throws(HomeError) -> Results {
        let started = try await send(
            "startLiveView", ["offerSdp": offer], of: device, by: caller, as: Started.self)
        return Results(
            answerSdp: started.answerSdp, expiresAt: expiry(after: started.liveSessionDurationSeconds),
            mediaSessionId: started.mediaSessionId)
    }

    /// Extends a stream.
    public func extend(_ session: String, of device: String, by caller: Caller) async throws(HomeError) -> Results {
        let extended = try await send(
            "extendLiveView", ["mediaSessionId": session], of: device, by: caller, as: Extended.self)
        return Results(expiresAt: expiry(after: extended.liveSessionDurationSeconds), mediaSessionId: session)
    }

    /// Stops a stream.
    public func stop(_ session: String, of device: String, by caller: Caller) async throws(HomeError) -> Results {
        struct Nothing: Decodable {}
        _ = try await send("stopLiveView", ["mediaSessionId": session], of: device, by: caller, as: Nothing.self)
        return Results()
    }

    private func expiry(after seconds: Double) -> String { SDMEvent.text(now().addingTimeInterval(seconds)) }

    private func send<Answer: Decodable>(
        _ command: String, _ parameters: [String: String], of device: String, by caller: Caller, as type: Answer.Type
    ) async throws(HomeError) -> Answer {
        let call = CommandCall(
            deviceID: device, trait: Google.WebRtcLiveViewTrait.name, command: command, caller: caller)
        do {
            let answer = try await hub.send(call, body: try JSONEncoder().encode(parameters))
            return try JSONDecoder().decode(type, from: answer)
        } catch let error as HomeError {
            // For a session that has ended, or that belongs to somebody else, the API answers as for a wrong state.
            guard error.code == .notFound, parameters["mediaSessionId"] != nil else { throw error }
            throw .failedPrecondition("WebRtc error caused by invalid session or user id mismatch.")
        } catch {
            throw .internal("\(command) failed: \(error)")
        }
    }
}
