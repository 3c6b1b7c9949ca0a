import Foundation
import HomeTypes
import Signalling

/// Commands that viewers send on the data channels of their live views.
extension HomeHub {
    /// Applies a command as if it had arrived over HTTP.
    ///
    /// The caller is the session's principal, with what it may do at this moment: one that may only watch cannot talk.
    func apply(_ command: ChannelCommand) async -> Result<Data, ChannelRefusal> {
        do throws(HomeError) {
            let call = CommandCall(
                deviceID: command.deviceID, trait: "WebRtcLiveView", command: command.name,
                caller: Caller(principal: command.principal, access: accessOf(command.principal)))
            return .success(try await send(call, body: command.parameters))
        } catch {
            return .failure(
                ChannelRefusal(code: error.code.rawValue, status: error.code.status, message: error.message))
        }
    }
}
