import Hummingbird

extension GatewayAPI {
    func addDoctorRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/doctor") { _, _ in try JSONBody.response(await doctor.report()) }
    }
}
