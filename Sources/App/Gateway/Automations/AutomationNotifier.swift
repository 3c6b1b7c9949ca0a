import Automation
import HomeHub
import HomeTypes

/// Tells people what an automation has to say.
struct AutomationNotifier: Sendable {
    /// The trait of the structure whose command notifies.
    static let trait = "Notification"

    /// Sends a notification.
    func notify(
        _ parameters: [String: JSONObject.Value], of request: CommandRequest, by caller: Caller, in hub: HomeHub
    ) async throws(HomeError) {
        throw .unimplemented("notifications have no receiver; automations.notify in the config names them")
    }
}
