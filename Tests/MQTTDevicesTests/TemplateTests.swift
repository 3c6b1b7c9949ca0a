import Foundation
import Testing

@testable import MQTTDevices

@Suite struct TemplateTests {
    private func rendered(_ template: String, _ payload: String) throws -> String {
        try Template(template).render(MQTTPayload(MQTTMessage(topic: "t", payload: Data(payload.utf8))))
    }

    @Test(arguments: [
        ("{{ value_json.temperature }}", #"{"temperature":21.5}"#, "21.5"),
        ("{{value_json.POWER}}", #"{"POWER":"ON"}"#, "ON"),
        ("{{ value_json['AM2301'].Temperature }}", #"{"AM2301":{"Temperature":23}}"#, "23"),
        ("{{ value_json.contact }}", #"{"contact":false}"#, "False"),
        ("{{ value }}", "on", "on"),
        ("{{ value | float / 10 }}", "215", "21.5"),
        ("{{ (value | float * 1.8 + 32) | round(1) }}", "20.5", "68.9"),
        ("{{ value_json.a | default('none') }}", "{}", "none"),
        ("{{ 'ON' if value_json.state == 'on' else 'OFF' }}", #"{"state":"on"}"#, "ON"),
        ("{% if value_json.p > 50 %}high{% elif value_json.p > 10 %}low{% else %}off{% endif %}", #"{"p":20}"#, "low"),
        (
            "{% set v = {None:None,'idle':'idle','heat':'heating'} %}{{ v[value_json.running_state] }}",
            #"{"running_state":"heat"}"#, "heating"
        ),
        ("{{ {'off':0, 'low':1}[value_json.mode] | default('None') }}", #"{"mode":"turbo"}"#, "None"),
        ("{ \"position\": {{ value }} }", "30", "{ \"position\": 30 }"),
        ("{{ value_json.list[1] }}", #"{"list":[1,2]}"#, "2"),
        ("{{ value_json.get('a', 7) }}", "{}", "7"),
        ("{{ 'x' if 'a' in value_json and value_json.a else 'y' }}", #"{"a":true}"#, "x"),
        ("{{ value_json.a is defined }}", "{}", "False"),
        ("{{ value_json.name | lower | replace('a', 'b') }}", #"{"name":"AAC"}"#, "bbc"),
        ("{{ iif(value == 'x', 'yes', 'no') }}", "x", "yes"),
        ("{{ -3 // 2 }} {{ 7 % 4 }} {{ 1 - -1 }}", "", "-2 3 2"),
        ("a{# note #}b {{- ' c' -}} d", "", "ab cd"),
        ("{{ [1, 'a', {'b': 2}] | tojson }}", "", #"[1,"a",{"b":2}]"#),
        ("{{ (value_json.time / 1000) | int }}", #"{"time":1764219955123}"#, "1764219955"),
        ("{{ 'ON' in value and 'x' in value_json.list }}", #"{"list":["x"],"state":"ON"}"#, "True"),
    ])
    func `templates of devices give what the devices mean`(template: String, payload: String, expected: String) throws {
        #expect(try rendered(template, payload) == expected)
    }

    @Test(arguments: [
        "{{ states('sensor.x') }}", "{% for x in value_json %}{% endfor %}", "{{ now() }}",
        "{{ value | regex_replace('a','b') }}",
        "{{ value", "{{ }}", "{% if value %}x", "{{ 'a }}", "{{ value_json.__class__.mro() }}", "{% endif %}",
        "{{ 1 2 }}",
    ])
    func `a template beyond the subset is refused as a whole`(template: String) {
        #expect(throws: TemplateError.self) { try Template(template) }
    }

    @Test func `a value that the message lacks is reported`() {
        #expect(throws: TemplateError.noValue("value_json.a.b")) { try rendered("{{ value_json.a.b }}", #"{"a":{}}"#) }
        #expect(throws: TemplateError.self) { try rendered("{{ value_json.a + 1 }}", "not json") }
    }

    @Test func `a template cannot make a text that fills the memory`() {
        let doubling = String(repeating: "{% set a = a ~ a %}", count: 40)
        #expect(throws: TemplateError.tooLong) { try rendered("{% set a = 'xxxxxxxx' %}" + doubling + "{{ a }}", "") }
        #expect(throws: TemplateError.self) { try Template("{{ " + String(repeating: "(", count: 3_000) + " }}") }
        #expect(throws: TemplateError.self) {
            try Template(
                "{{ " + String(repeating: "not ", count: 900) + "-" + String(repeating: "-", count: 300) + " }}")
        }
    }

    private static let list = "[" + Array(repeating: "1", count: 3_000).joined(separator: ",") + "]"
    private static let lists = "[\(list),\(list)]"
    private static let longText = String(repeating: "a", count: 12_000)

    /// A template that assigns `next` to `x` again and again before it ends with `last`.
    private static func growing(from first: String, by next: String, times: Int, _ last: String) -> String {
        let step = "{% set x = \(next) %}"
        return "{% set x = \(first) %}" + String(repeating: step, count: times) + last
    }

    private static let greedy: [(String, String)] = [
        // Each list has the one before twice, in the same memory: 2^60 values in 1 KiB.
        (growing(from: "[1, 1]", by: "[x, x]", times: 60, "{{ x }}"), ""),
        (growing(from: "[1, 1]", by: "[x, x]", times: 60, "{{ [x] == [x, x] }}"), ""),
        (growing(from: "{}", by: "{'a': x, 'b': x}", times: 60, "{{ x | tojson }}"), ""),
        (growing(from: "1", by: "[[[[[[[[[[x]]]]]]]]]]", times: 10, "{{ x }}"), ""),
        ("{{ [value_json, value_json] | length }}", list),
        ("{{ [value, value] | length }}", longText),
        ("{{ (value ~ value) | length }}", longText),
        ("{{ (value + value) | length }}", longText),
        ("{{ (value_json ~ 'x') | length }}", lists),
        ("{{ value_json | string | length }}", lists),
        ("{{ value_json | tojson | length }}", lists),
        ("{{ {}[value_json] is defined }}", lists),
    ]

    @Test(arguments: greedy)
    func `a template cannot make a value that fills the memory or takes years to print`(
        template: String, payload: String
    ) throws {
        let template = try Template(template)
        let payload = MQTTPayload(MQTTMessage(topic: "t", payload: Data(payload.utf8)))
        #expect(throws: TemplateError.tooLong) { try template.render(payload) }
    }

    @Test func `a template cannot keep the gateway busy with the same work again and again`() throws {
        for search in ["{{ (value ~ 'b') in value }}", "{{ value.split(value ~ 'b') }}"] {
            #expect(throws: TemplateError.tooLong) { try rendered(search, Self.longText) }
        }
        let readings = String(repeating: "{% set x = value | from_json %}", count: 100) + "{{ x | length }}"
        #expect(throws: TemplateError.tooLong) { try rendered(readings, Self.list) }
        #expect(try rendered("{{ value | from_json | length }}", Self.list) == "3000")
    }

    @Test(arguments: ["{{ value in value }}", "{{ value_json.a }}"])
    func `the templates of all entities that read a message share a limit`(text: String) throws {
        let template = try Template(text)
        let json = #"{"a":"\#(String(repeating: "x", count: 1_800))"}"#
        func payload() -> MQTTPayload { MQTTPayload(MQTTMessage(topic: "t", payload: Data(json.utf8))) }
        let one = payload()
        var renderings = 0
        while renderings < 100_000, (try? template.render(one)) != nil { renderings += 1 }
        #expect((10..<100_000).contains(renderings))
        // Nothing is left for the others either.
        let other = try Template("{{ value_json.b }}")
        #expect(throws: TemplateError.tooLong) { try other.render(one) }
        #expect(throws: Never.self) { try template.render(payload()) }
    }
}
