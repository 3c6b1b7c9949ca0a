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
}
