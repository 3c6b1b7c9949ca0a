import HTTPTypes
import HomeTypes

/// What every route of the API needs. A route that is missing here is refused, and a test finds it.
enum RoutePermissions {
    /// What a request must bring.
    enum Need: Sendable, Hashable {
        /// Nothing: the route reveals nothing about the home.
        case nothing
        /// A secret in the path or, for a device's own reports, the device's webhook token. The route checks it.
        case secret
        /// Any token. The route shows only what belongs to the token.
        case token
        /// A scope for the object that the path names, or for the home.
        case scope(Caller.Scope, Target)
        /// The scopes that the trait's command needs, for the device of the path.
        case command
        /// The owner's own token.
        case owner
    }

    /// What the path names.
    enum Target: Sendable, Hashable {
        case home
        case device
        case structure
        case room
        case automation
    }

    /// What a route needs; nil for a route that nobody has thought about.
    static func need(of entry: RouteTable.Entry) -> Need? {
        table["\(entry.method.rawValue) \(entry.path)"]
    }

    /// The documents of the page are in ``WebPage``; everybody may read them.
    static let table: [String: Need] = [
        "GET /healthz": .nothing,
        "GET /camera/{device}": .nothing,
        "GET /assets/{file}": .nothing,
        "GET /assets/{file}/{name}": .nothing,
        "GET /metrics": .scope(.read, .home),
        "GET /v1/gateway": .token,
        "GET /v1/openapi.json": .token,
        "GET /v1/access": .token,
        "GET /v1/tokens": .scope(.admin, .home),
        "POST /v1/tokens": .scope(.admin, .home),
        "GET /v1/tokens/{token}": .scope(.admin, .home),
        "PATCH /v1/tokens/{token}": .scope(.admin, .home),
        "DELETE /v1/tokens/{token}": .scope(.admin, .home),
        "POST /v1/qr-codes": .token,
        // A browser belongs to the principal that signed in there.
        "GET /v1/push": .token,
        "GET /v1/push-subscriptions": .token,
        "POST /v1/push-subscriptions": .token,
        "PATCH /v1/push-subscriptions/{subscription}": .token,
        "DELETE /v1/push-subscriptions/{subscription}": .token,
        "POST /v1/push-subscriptions/{subscription}/test": .token,
        "GET /v1/push-pictures/{picture}/{file}": .secret,
        // The name and the password are in the body.
        "POST /v1/sign-in": .secret,
        "POST /v1/sign-out": .token,

        "GET /v1/structures": .token,
        "POST /v1/structures": .scope(.admin, .home),
        "GET /v1/structures/{structure}": .scope(.read, .structure),
        "PATCH /v1/structures/{structure}": .scope(.admin, .structure),
        "DELETE /v1/structures/{structure}": .scope(.admin, .structure),
        "GET /v1/structures/{structure}/presence": .scope(.read, .structure),
        "POST /v1/structures/{structure}/presence": .scope(.control, .structure),
        "POST /v1/structures/{structure}/rooms": .scope(.admin, .structure),
        "GET /v1/structures/{structure}/automations": .scope(.automate, .structure),
        "POST /v1/structures/{structure}/automations": .scope(.automate, .structure),
        "POST /v1/structures/{structure}/automations/validate": .scope(.automate, .structure),
        // Whose devices a draft names is checked with the draft: it shows what was recorded of them.
        "POST /v1/structures/{structure}/automations/simulate": .scope(.automate, .structure),
        "GET /v1/structures/{structure}/candidates": .scope(.automate, .structure),
        "GET /v1/structures/{structure}/automations/suggestions": .scope(.automate, .structure),
        // The owner's own, and all of the structure for its administrators; the records check it.
        "GET /v1/automations/{automation}": .scope(.automate, .automation),
        "PATCH /v1/automations/{automation}": .scope(.automate, .automation),
        "DELETE /v1/automations/{automation}": .scope(.automate, .automation),
        "POST /v1/automations/{automation}/execute": .scope(.automate, .automation),
        "POST /v1/automations/{automation}/stop": .scope(.automate, .automation),
        "POST /v1/automations/{automation}/release": .scope(.automate, .automation),
        "GET /v1/automations/{automation}/explain": .scope(.automate, .automation),
        "GET /v1/automations/{automation}/runs": .scope(.automate, .automation),
        "GET /v1/automations/{automation}/runs/{run}": .scope(.automate, .automation),
        "GET /v1/structures/{structure}/automations/events": .scope(.automate, .structure),
        "GET /v1/rooms": .token,
        "GET /v1/rooms/{room}": .scope(.read, .room),
        "PATCH /v1/rooms/{room}": .scope(.admin, .room),
        "DELETE /v1/rooms/{room}": .scope(.admin, .room),
        "GET /.well-known/oauth-authorization-server": .nothing,
        "GET /oauth/authorize": .nothing,
        "POST /oauth/token": .secret,
        "POST /oauth/revoke": .secret,
        "GET /v1/oauth/clients/{client}": .token,
        "POST /v1/oauth/authorizations": .token,

        "GET /v1/devices": .token,
        "GET /v1/devices/{device}": .scope(.read, .device),
        // Another structure needs the scope there too; the route checks it.
        "PATCH /v1/devices/{device}": .scope(.admin, .device),
        "GET /v1/devices/{device}/decommission": .scope(.admin, .device),
        "DELETE /v1/devices/{device}": .owner,
        "GET /v1/devices/{device}/traits/{trait}": .scope(.read, .device),
        "PATCH /v1/devices/{device}/traits/{trait}": .scope(.control, .device),
        "POST /v1/devices/{device}/traits/{trait}/report": .scope(.control, .device),
        "POST /v1/devices/{device}/traits/{trait}/commands/{command}": .command,
        // The hub asks for each command's own scopes.
        "POST /v1/commands": .token,
        "GET /v1/devices/{device}/snapshot.jpg": .scope(.view, .device),
        "GET /v1/devices/{device}/live.mp4": .scope(.view, .device),
        "GET /v1/devices/{device}/live.m3u8": .scope(.view, .device),
        "GET /v1/devices/{device}/live/{file}": .scope(.view, .device),
        "GET /v1/devices/{device}/live.mjpeg": .scope(.view, .device),
        "HEAD /v1/devices/{device}/snapshot.jpg": .scope(.view, .device),
        "HEAD /v1/devices/{device}/live.mp4": .scope(.view, .device),
        "HEAD /v1/devices/{device}/live.m3u8": .scope(.view, .device),
        "HEAD /v1/devices/{device}/live.mjpeg": .scope(.view, .device),
        "GET /v1/devices/{device}/doctor": .scope(.view, .device),
        "GET /v1/devices/{device}/snapshots/{snapshot}": .scope(.media, .device),
        "DELETE /v1/devices/{device}/snapshots/{snapshot}": .owner,
        "GET /v1/devices/{device}/speaker": .scope(.read, .device),
        "POST /v1/devices/{device}/speaker/clips": .scope(.media, .device),
        "DELETE /v1/devices/{device}/speaker/clips/{clip}": .scope(.media, .device),
        "GET /v1/devices/{device}/events": .scope(.read, .device),
        "POST /v1/devices/{device}/events": .scope(.control, .device),
        // Only of devices that the token may read.
        "GET /v1/history": .token,
        "GET /v1/history/filters": .token,
        "GET /v1/webhooks/{device}/{secret}/{type}": .secret,
        "POST /v1/webhooks/{device}/{secret}/{type}": .secret,

        "GET /v1/devices/{device}/recordings": .scope(.media, .device),
        "DELETE /v1/devices/{device}/recordings": .owner,
        "GET /v1/devices/{device}/recordings/days": .scope(.media, .device),
        "GET /v1/devices/{device}/recordings/footage": .scope(.media, .device),
        "GET /v1/devices/{device}/recordings/{recording}": .scope(.media, .device),
        "DELETE /v1/devices/{device}/recordings/{recording}": .owner,
        "GET /v1/devices/{device}/recordings/{recording}/segments": .scope(.media, .device),
        "GET /v1/devices/{device}/recordings/{recording}/thumbnail.jpg": .scope(.media, .device),
        "GET /v1/devices/{device}/recordings/thumbnail.jpg": .scope(.media, .device),
        "POST /v1/devices/{device}/recordings/links": .scope(.media, .device),
        "GET /v1/devices/{device}/recordings.m3u8": .scope(.media, .device),
        "GET /v1/devices/{device}/recordings/video.m3u8": .scope(.media, .device),
        "GET /v1/devices/{device}/recordings/audio.m3u8": .scope(.media, .device),
        "GET /v1/devices/{device}/recordings/export.mp4": .scope(.media, .device),
        "GET /v1/devices/{device}/recordings/{recording}/tracks/{track}/{file}": .scope(.media, .device),
        "GET /v1/recording-links/{link}/recordings.m3u8": .secret,
        "GET /v1/recording-links/{link}/recordings/video.m3u8": .secret,
        "GET /v1/recording-links/{link}/recordings/audio.m3u8": .secret,
        "GET /v1/recording-links/{link}/recordings/export.mp4": .secret,
        "GET /v1/recording-links/{link}/recordings/{recording}/tracks/{track}/{file}": .secret,

        "GET /v1/enterprises/{project}/structures": .token,
        "GET /v1/enterprises/{project}/structures/{structure}": .scope(.read, .structure),
        "GET /v1/enterprises/{project}/structures/{structure}/rooms": .scope(.read, .structure),
        "GET /v1/enterprises/{project}/structures/{structure}/rooms/{room}": .scope(.read, .room),
        "GET /v1/enterprises/{project}/devices": .token,
        "GET /v1/enterprises/{project}/devices/{device}": .scope(.read, .device),
        // Commands and events are checked by the hub, for the device that they are about.
        "POST /v1/enterprises/{project}/devices/{device}": .token,
        "POST /v1/projects/{project}/subscriptions/{subscription}": .token,
        "GET /v1/event-images/{image}": .secret,
        "POST /v1/cloud-to-cloud": .token,
        "POST /v1/camera-streams/{stream}": .secret,

        // Each shows or starts only what the token may watch; the routes check it.
        "GET /api": .token,
        "GET /api/schemes": .token,
        "GET /api/streams": .token,
        "PUT /api/streams": .token,
        "DELETE /api/streams": .token,
        "GET /api/preload": .token,
        "PUT /api/preload": .token,
        "DELETE /api/preload": .token,
        "POST /api/webrtc": .token,
        "GET /api/ws": .token,
        "GET /api/frame.jpeg": .token,

        // Sessions belong to the principal that started them, which needed the scope for that.
        "GET /v1/sessions": .token,
        "GET /v1/sessions/{session}": .token,
        "DELETE /v1/sessions/{session}": .token,
        "GET /v1/events": .token,
        "POST /whep/{device}": .scope(.view, .device),
        "OPTIONS /whep/{device}": .scope(.view, .device),
        "PATCH /whep/{device}/{session}": .secret,
        "DELETE /whep/{device}/{session}": .secret,
        "OPTIONS /whep/{device}/{session}": .token,
        "POST /whip/{device}": .scope(.media, .device),
        "OPTIONS /whip/{device}": .scope(.media, .device),
        "PATCH /whip/{device}/{session}": .secret,
        "DELETE /whip/{device}/{session}": .secret,
        "OPTIONS /whip/{device}/{session}": .token,

        // A camera's settings name an address that the gateway connects to, so they belong to the whole home. Whoever may
        // read these two also gets the event of their changes (``ConfigurationSummary``).
        "GET /v1/configuration": .scope(.admin, .home),
        "GET /v1/configuration/settings": .scope(.admin, .home),
        "POST /v1/configuration/check": .scope(.admin, .home),
        "GET /v1/mqtt": .scope(.admin, .home),
        "GET /v1/doctor": .scope(.admin, .home),
        "GET /v1/cameras": .scope(.admin, .home),
        "POST /v1/cameras/discover": .scope(.admin, .home),
        "POST /v1/cameras/probe": .scope(.admin, .home),
        "GET /v1/cameras/{camera}": .scope(.admin, .home),
        "PUT /v1/cameras/{camera}": .scope(.admin, .home),
        "PATCH /v1/cameras/{camera}": .scope(.admin, .home),
        "DELETE /v1/cameras/{camera}": .scope(.admin, .home),
        "DELETE /v1/cameras/{camera}/override": .scope(.admin, .home),
        "POST /v1/cameras/{camera}/reconnect": .scope(.admin, .home),
        // Endpoints decide where all footage goes.
        "GET /v1/upload-endpoints": .owner,
        "GET /v1/upload-endpoints/{name}": .owner,
        "PUT /v1/upload-endpoints/{name}": .owner,
        "DELETE /v1/upload-endpoints/{name}": .owner,
    ]
}
