import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import PushAvStreamTransport
import Transport

/// What was recorded: lists, days, details, and deletion.
extension GatewayAPI {
    /// The most recordings of one page of a list.
    static let maximumRecordings = 1_000

    func addRecordingRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/devices/:device/recordings") { request, context in
            let place = try recordingPlaces.take(for: principal(context))
            defer { withExtendedLifetime(place) {} }
            let (access, device) = try await recordings(context)
            let limit = try RecordingQueries.number(
                "limit", request, in: 1...Self.maximumRecordings, otherwise: 100)
            let order = try RecordingQueries.word("order", request, otherwise: RecordingListOrder.newest)
            let after = try request.uri.queryParameters["after"].map {
                try RecordingQueries.recording(String($0), device: device)
            }
            let from = try RecordingQueries.time("from", request) ?? .min
            let until = try RecordingQueries.time("until", request) ?? .max
            let page = try await access.read { store throws(PlaybackError) in
                try RecordingPage(
                    of: device, from: from, until: until, newestFirst: order == .newest, after: after, limit: limit,
                    in: store)
            }
            return try JSONBody.response(
                RecordingList(
                    recordings: page.recordings.map(RecordingAnswer.init),
                    next: page.hasMore ? page.recordings.last.map { RecordingQueries.cursor($0.id) } : nil))
        }
        router.get("/v1/devices/:device/recordings/days") { request, context in
            let place = try recordingPlaces.take(for: principal(context))
            defer { withExtendedLifetime(place) {} }
            let (access, device) = try await recordings(context)
            let name = request.uri.queryParameters["timeZone"].map(String.init) ?? "UTC"
            guard let zone = TimeZone(identifier: name) else {
                throw HomeError.invalidArgument("timeZone: expected a name like Europe/Berlin")
            }
            let days = try await access.read { store throws(PlaybackError) in
                do throws(RecordingFault) {
                    return try store.days(of: device) { microseconds in
                        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(microseconds) / 1_000_000))
                    }
                } catch {
                    throw .store(error)
                }
            }
            return try JSONBody.response(RecordingDayList(days))
        }
        router.get("/v1/devices/:device/recordings/footage") { request, context in
            let place = try recordingPlaces.take(for: principal(context))
            defer { withExtendedLifetime(place) {} }
            let (access, device) = try await recordings(context)
            let range = try RecordingQueries.range(request)
            guard range.count <= 3_600 * 1_000_000 else {
                throw HomeError.invalidArgument("the range is longer than an hour")
            }
            let footage = try await access.read { store throws(PlaybackError) -> RecordingFootage in
                do throws(PlaybackError) {
                    return RecordingFootage(
                        try RecordedRange(of: device, from: range.lowerBound, until: range.upperBound, in: store))
                } catch .nothingRecorded {
                    return RecordingFootage()
                }
            }
            return try JSONBody.response(footage)
        }
        router.get("/v1/devices/:device/recordings/:recording") { _, context in
            let place = try recordingPlaces.take(for: principal(context))
            defer { withExtendedLifetime(place) {} }
            let (access, device) = try await recordings(context)
            return try JSONBody.response(RecordingDetails(try await Self.stored(access, device, context)))
        }
        router.get("/v1/devices/:device/recordings/:recording/segments") { _, context in
            let place = try recordingPlaces.take(for: principal(context))
            defer { withExtendedLifetime(place) {} }
            let (access, device) = try await recordings(context)
            let stored = try await Self.stored(access, device, context)
            return try JSONBody.response(
                RecordingSegmentList(
                    segments: stored.segments.map { RecordingSegmentAnswer($0, of: stored.session) }))
        }
        router.delete("/v1/devices/:device/recordings/:recording") { _, context in
            let place = try recordingPlaces.take(for: principal(context))
            defer { withExtendedLifetime(place) {} }
            let (access, device) = try await recordings(context)
            let id = try Self.identifier(context, device)
            try await access.read { store throws(PlaybackError) in
                do throws(RecordingFault) {
                    // A recording that is being made cannot be deleted, and the client learns why.
                    guard try store.recording(id).end != nil else { throw .inProgress }
                    try store.delete(id)
                } catch {
                    throw .store(error)
                }
            }
            return Response(status: .noContent)
        }
        router.delete("/v1/devices/:device/recordings") { request, context in
            let place = try recordingPlaces.take(for: principal(context))
            defer { withExtendedLifetime(place) {} }
            let (access, device) = try await recordings(context)
            let range = try RecordingQueries.range(request)
            let answer = try await access.read { store throws(PlaybackError) in
                try RecordingDeletion(of: device, range, in: store)
            }
            return try JSONBody.response(answer)
        }
        addRecordingMediaRoutes(to: router)
    }

    /// The store, and the device that the path names. A device that is gone may still have recordings.
    func recordings(_ context: GatewayRequestContext) async throws -> (RecordingAccess, String) {
        let device = try deviceID(context)
        return (try await recordings(of: device), device)
    }

    func recordings(of device: String) async throws -> RecordingAccess {
        guard let access = recordingAccess else {
            try await hub.requireDevice(device)
            throw HomeError.unimplemented("this gateway keeps no recordings")
        }
        do {
            try await hub.requireDevice(device)
        } catch {
            let known = try await access.read { store throws(PlaybackError) in
                do throws(RecordingFault) { return try store.totals()[device] != nil } catch { throw .store(error) }
            }
            guard known else { throw error }
        }
        return access
    }

    static func identifier(_ context: GatewayRequestContext, _ device: String) throws -> RecordingSession.ID {
        let name = try context.parameters.require("recording")
        guard let id = RecordingSession.ID(device: device, name: name) else {
            throw HomeError.notFound("no recording has the id \"\(name)\"")
                .advising(
                    request: "GET /v1/devices/\(device)/recordings lists them",
                    command: "gatehouse recordings list \(device) lists them")
        }
        return id
    }

    /// The recording that the path names.
    static func stored(
        _ access: RecordingAccess, _ device: String, _ context: GatewayRequestContext
    ) async throws -> StoredRecording {
        let id = try Self.identifier(context, device)
        return try await access.read { store throws(PlaybackError) in
            do throws(RecordingFault) { return try store.recording(id) } catch { throw .store(error) }
        }
    }
}

/// The order of a list.
enum RecordingListOrder: String, CaseIterable { case newest, oldest }

/// One page of a list of recordings.
struct RecordingPage: Sendable {
    var recordings: [RecordingSummary] = []
    var hasMore = false

    init(
        of device: String, from: Int64, until: Int64, newestFirst: Bool, after: RecordingSession.ID?, limit: Int,
        in store: any RecordingReading
    ) throws(PlaybackError) {
        var count = limit + 1
        // Those at the place of the cursor come again, and are left out. There are few of them, so this ends soon; each
        // turn asks for more.
        for _ in 0..<12 {
            // The start of a recording's footage may be a little off its name.
            let slack: Int64 = 60_000
            let range =
                switch (after, newestFirst) {
                case (nil, _): (from, until)
                case (let after?, true): (from, min(until, (after.start + slack) * 1_000))
                case (let after?, false): (max(from, (after.start - slack) * 1_000), until)
                }
            let found: [RecordingSummary]
            do throws(RecordingFault) {
                found = try store.recordings(
                    RecordingQuery(
                        device: device, from: range.0, until: range.1, newestFirst: newestFirst, limit: count))
            } catch {
                throw .store(error)
            }
            let left = found.filter { summary in
                guard let after else { return true }
                let (one, other) = newestFirst ? (summary.id, after) : (after, summary.id)
                return (one.start, one.epoch, one.sequence) < (other.start, other.epoch, other.sequence)
            }
            self.recordings = Array(left.prefix(limit))
            self.hasMore = left.count > limit
            guard left.count <= limit, found.count == count else { return }
            count *= 4
        }
    }
}

extension RecordingDeletion {
    /// Deletes the recordings that lie within a range as a whole.
    init(of device: String, _ range: Range<Int64>, in store: any RecordingReading) throws(PlaybackError) {
        self.init(deleted: 0, kept: 0)
        do throws(RecordingFault) {
            let found = try store.recordings(
                RecordingQuery(device: device, from: range.lowerBound, until: range.upperBound))
            for one in found {
                guard one.end != nil, one.from >= range.lowerBound, one.until <= range.upperBound else {
                    kept += 1
                    continue
                }
                do throws(RecordingFault) {
                    try store.delete(one.id)
                } catch .unknownSession {
                    // Somebody else was faster.
                    continue
                }
                deleted += 1
            }
        } catch {
            throw .store(error)
        }
    }
}
