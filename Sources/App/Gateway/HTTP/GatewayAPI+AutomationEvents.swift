import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import Transport

/// What happens to automations, as it happens.
extension GatewayAPI {
    func addAutomationEventRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/structures/:structure/automations/events") { request, context in
            let structure = try await knownStructure(context)
            let caller = try authorization(context)
            let field = HTTPField.Name("Last-Event-ID") ?? .from
            let cursor = request.headers[field] ?? request.uri.queryParameters["after"].map(String.init)
            guard cursor == nil || Int64(cursor ?? "") != nil else {
                throw HomeError.invalidArgument("Last-Event-ID: expected the id of an event of this stream")
            }
            let place = try automationReaders.take(for: caller.principal)
            // Before the client learns that it is connected: it reads the list then, and what changes after that reading
            // must come as an event.
            let ending = EndingAnswer(on: context.channel)
            let stream = await AutomationEventStream(
                api: self, structure: structure, caller: caller, after: cursor.flatMap { Int64($0) }, ending: ending)
            // What ended the streams of a token that has just lost rights did not know of this one.
            do {
                try tokens.requireStill(caller)
            } catch {
                // Nothing was begun that could keep a place, and the connection may get another request.
                ending.end()
                throw error
            }
            return Response(
                status: .ok,
                headers: [
                    .contentType: "text/event-stream", .cacheControl: "no-store",
                    HTTPField.Name("X-Accel-Buffering") ?? .from: "no",
                ],
                body: ResponseBody { writer in
                    defer { withExtendedLifetime(place) { ending.end() } }
                    try await writer.write(ByteBuffer(string: ServerSentEvents.opening))
                    try await stream.run { try await writer.write(ByteBuffer(string: $0)) }
                    try await writer.finish(nil)
                })
        }
    }
}

/// The events of one watcher. It has a place among the runs and a set of automations, and no queue, so a slow watcher costs
/// no memory.
struct AutomationEventStream: Sendable {
    let api: GatewayAPI
    let structure: String
    let caller: Authorization
    private let feed: RunFeed?
    private let watcher: AutomationWatchers.Watcher
    /// Whether the rights of the token, or of the one who signed in with it, have ended. Another token of the same name may have
    /// some.
    private let hasLostRights: Locked<Bool>

    private enum Signal: Sendable { case news, heartbeat }

    /// Watches from now on.
    /// - Parameters:
    ///   - cursor: The place of the last run that the watcher knows; nil for now.
    ///   - ending: The end of the answer: a client that reads slowly keeps ``run(_:)`` in a write, and would keep its place.
    ///     Nil for a reader without a connection.
    init(
        api: GatewayAPI, structure: String, caller: Authorization, after cursor: Int64?, ending: EndingAnswer? = nil
    ) async {
        self.api = api
        self.structure = structure
        self.caller = caller
        let (watcher, hasLostRights) = (api.automations.watchers.add(for: caller.principal), Locked(false))
        self.watcher = watcher
        self.hasLostRights = hasLostRights
        watcher.whenRightsChange { access in
            guard !access.permits(.automate, .structure(structure)) else { return }
            hasLostRights.withLock { $0 = true }
            ending?.begin()
        }
        feed = await api.automationService?.liveRuns(after: cursor)
    }

    /// Writes events until the watcher goes away, the gateway ends, or the watcher may see nothing any more.
    func run(_ write: (String) async throws -> Void) async throws {
        let (signals, continuation) = AsyncStream.makeStream(of: Signal.self, bufferingPolicy: .bufferingNewest(2))
        let tasks = [
            Task {
                for await _ in watcher.signals { continuation.yield(.news) }
                continuation.finish()
            },
            Task {
                guard let feed else { return }
                for await _ in feed.signals { continuation.yield(.news) }
                continuation.finish()
            },
            Task {
                while (try? await Task.sleep(for: .seconds(15))) != nil { continuation.yield(.heartbeat) }
            },
        ]
        defer { for task in tasks { task.cancel() } }
        var place = feed?.start ?? 0
        continuation.yield(.news)
        for await signal in signals.cancelOnGracefulShutdown() {
            // The token may have ended, or may permit less than before.
            let access = api.tokens.access(of: caller.principal)
            guard access.permits(.automate, .structure(structure)), !hasLostRights.withLock({ $0 }) else { return }
            guard signal == .news else {
                try await write(": still here\n\n")
                continue
            }
            var holder = caller
            holder.access = access
            try await writeNews(&place, holder, write)
        }
    }

    private func writeNews(
        _ place: inout Int64, _ holder: Authorization, _ write: (String) async throws -> Void
    ) async throws {
        let homes = await AutomationHomes(api.hub).seen(by: holder.access)
        var changed = watcher.takeChanged()
        while let service = api.automationService {
            let page = await service.changes(after: place)
            guard page.place > place else { break }
            place = page.place
            for element in page.runs {
                guard let entry = try? await api.automations.automation(element.run.automationID, for: holder),
                    entry.record.structureID == structure
                else { continue }
                changed.insert(entry.record.id)
                let data = CandidateFields.json(RunJSON(homes, of: structure).members(of: element.run))
                try await write("event: run\nid: \(element.cursor)\ndata: \(data)\n\n")
            }
        }
        for record in watcher.takeRemoved()
        where record.structureID == structure && AutomationRecords.sees(record, holder) {
            let data = CandidateFields.json(["automationID": .text(record.id)])
            try await write("event: automationRemoved\ndata: \(data)\n\n")
        }
        for id in changed.sorted() {
            guard let entry = try? await api.automations.automation(id, for: holder),
                entry.record.structureID == structure
            else { continue }
            let data = try await api.json(entry, homes)
            // A graph may have line breaks, which would end the data.
            let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
            try await write("event: automation\n" + lines.map { "data: \($0)\n" }.joined() + "\n")
        }
    }
}
