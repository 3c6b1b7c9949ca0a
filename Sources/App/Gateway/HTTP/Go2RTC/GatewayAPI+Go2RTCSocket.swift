import HomeHub
import HomeTypes
import Hummingbird
import NIOCore
import NIOWebSocket
import Signalling
import Transport

/// The WebSocket of go2rtc's API: one live view, and its candidates.
extension GatewayAPI {
    func go2RTCSocket(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let device = try await go2RTCDevice(request, context)
        let watcher = try self.watcher(of: device, context)
        return try await WebSocketHandshake.response(to: request, context) { connection in
            defer { withExtendedLifetime(watcher) {} }
            watcher.whenEnded { connection.close(.init(.policyViolation, "the camera may no longer be watched")) }
            var conversation = Conversation(api: self, device: device, request: request, context: context)
            do {
                while case .text(let text)? = try await connection.next() {
                    let answer = await conversation.answer(text)
                    if let answer { try await connection.send(.text(answer.json)) }
                }
            } catch {
                // A client that went away before its answer was sent holds no place.
                await conversation.end()
                throw error
            }
            await conversation.end()
        }
    }

    /// What has been said on one WebSocket.
    private struct Conversation {
        let api: GatewayAPI
        let device: String
        let request: Request
        let context: GatewayRequestContext
        private var view: Go2RTCView?
        private var offer = ""

        init(api: GatewayAPI, device: String, request: Request, context: GatewayRequestContext) {
            self.api = api
            self.device = device
            self.request = request
            self.context = context
        }

        mutating func answer(_ text: String) async -> Go2RTC.Message? {
            guard let message = Go2RTC.Message(json: text) else {
                return .init("error", .text("this is not a message"))
            }
            do {
                switch (message.type, message.value) {
                case ("webrtc", .description(let description)):
                    let answer = try await start(description.sdp)
                    return .init("webrtc", .description(.init(type: "answer", sdp: answer)))
                case ("webrtc/offer", .text(let sdp)):
                    return .init("webrtc/answer", .text(try await start(sdp)))
                case ("webrtc/candidate", .text(let candidate)):
                    try await add(candidate)
                    return nil
                default:
                    // Other ways to watch have addresses of their own here.
                    return .init("error", .text("\(message.type.prefix(64)): only webrtc is supported"))
                }
            } catch let error as SignallingError {
                return .init("error", .text("\(message.type): \(HomeError(error).message)"))
            } catch {
                return .init("error", .text("\(message.type): \((error as? HomeError)?.message ?? "it failed")"))
            }
        }

        /// A further offer replaces the view before.
        private mutating func start(_ offer: String) async throws -> String {
            await end()
            let started = try await api.startGo2RTCView(offer, of: device, request, context)
            view = started
            self.offer = offer
            return started.answer
        }

        private func add(_ candidate: String) async throws {
            guard let view else { throw HomeError.failedPrecondition("there was no offer yet") }
            guard let fragment = Go2RTCOffer.fragment(candidate, of: offer) else {
                throw HomeError.invalidArgument("this is not a candidate")
            }
            _ = try await api.hub.signalling.views.trickle(
                fragment, view.session, reachedAddresses: api.reachedAddresses(request, context))
        }

        mutating func end() async {
            guard let view else { return }
            self.view = nil
            // One that has ended by itself needs nothing.
            try? await api.hub.signalling.views.stopLiveView(view.session)
            await api.whepSessions.remove(view.session.mediaSessionId)
        }
    }
}
