import RTSP
import Testing

@testable import HTTPMedia

@Suite struct HTTPAddressTests {
    private func parse(_ text: String) throws(HTTPAddressError) -> (address: HTTPAddress, credentials: RTSPCredentials?)
    {
        try HTTPAddress.parse(text, defaultPath: "/default")
    }

    @Test func `an address is read with its credentials beside it`() throws {
        let (address, credentials) = try parse("http://admin:p%40ss:w/rd@cam.local:8000/x?y=1")
        #expect(address == HTTPAddress(host: "cam.local", port: 8000, path: "/x?y=1"))
        #expect(credentials == RTSPCredentials(user: "admin", password: "p@ss:w/rd"))
        #expect(address.url == "http://cam.local:8000/x?y=1")
        #expect(try parse("HTTPS://cam/x").address == HTTPAddress(host: "cam", port: 443, path: "/x", isSecure: true))
        #expect(try parse("http://[2001:db8::1]/x").address.authority == "[2001:db8::1]")
    }

    @Test func `what could be a password in a path is not printed`() throws {
        let address = try parse("http://admin:80/34@cam/x").address
        #expect(address.url == "http://admin/34@cam/x")
        #expect(address.description == "http://admin:***@cam/x")
        #expect(address.mayHoldPassword)
        #expect(try parse("http://192.0.2.1:81/a@b").address.description == "http://192.0.2.1:81/a@b")
    }

    @Test func `the default path is that of an address without a path`() throws {
        #expect(try parse("http://cam").address.path == "/default")
        #expect(try parse("http://cam/").address.path == "/")
    }

    @Test(arguments: [
        "", "cam", "http:", "http:/cam", "rtsp://cam", "onvif://cam", "http://", "http://a b/", "http://:80/",
        "http://cam:0/", "http://cam:99999/",
    ])
    func `an address that cannot be used is refused`(text: String) {
        #expect(throws: HTTPAddressError.self) { try parse(text) }
    }
}
