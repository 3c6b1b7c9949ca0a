import HomeTypes
import Hummingbird

extension GatewayAPI {
    func addMQTTRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/mqtt") { _, _ in
            guard let status = await mqtt?.status else {
                throw HomeError.notFound("no MQTT broker is configured; the section mqtt of the config names one")
            }
            return try JSONBody.response(status)
        }
    }
}
